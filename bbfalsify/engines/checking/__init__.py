"""Black box checking (Peled, Vardi, Yannakakis): learn, model-check every hypothesis, confirm on the box, test.

    strategy.py      the main loop (their Figure 3): hypothesis ► model checking ► confirmation ► conformance test
    learners.py      who makes the hypotheses: AALpy's learners, which see the box through `Box`
    testing/         who tests a hypothesis up to a bound: W, Wp, HSI, H
    box.py           words in, outputs out, nothing executed twice; failures and contradictions
    claims.py      what has been established about each requirement
    resetless.py     the same for a box that cannot be reset
    off_line.py, on_the_fly.py, deadlock.py     the paper's other strategies (sections 4.1, 4.2 and 3), as baselines

Nothing here touches a system: the driver gives `ask`.
"""
