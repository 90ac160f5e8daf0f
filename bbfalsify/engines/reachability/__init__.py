"""Randomized reachability (paper B): concrete walks that search for a target, and exact traces of them.

schedule         which walks are made, with which delays and how deep
search           Algorithm 2, over one heuristic or all of them side by side
concrete_trace   a found walk, replayed by the exact interpreter before it is reported
"""
