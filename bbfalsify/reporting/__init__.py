"""What people read: tables for the terminal, small SVG plots, and the reader of recorded results.

Reports are made from what was recorded, never from live objects; printing itself happens in `cli`.
"""
