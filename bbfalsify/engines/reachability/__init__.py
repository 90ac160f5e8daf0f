"""Randomized reachability (paper B): concrete walks that look for a target, and the exact traces they leave.

schedule     which walks are made, with which delays and how deep
search       Algorithm 2, over one heuristic or all of them side by side
trace        a found walk, followed again by the exact interpreter before anybody sees it
"""
