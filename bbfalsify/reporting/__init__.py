"""Results for people and tools: lines and tables for a terminal, HTML reports, exports, drawings, comparisons.

Reports are made from what was recorded, never from live objects; printing itself happens in `cli`.
"""
