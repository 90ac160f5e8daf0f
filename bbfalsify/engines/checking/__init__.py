"""Black box checking (Peled, Vardi, Yannakakis): learn, model-check every hypothesis, confirm on the box, test.

    strategy.py      the main loop (their Figure 3): hypothesis ► model checking ► confirmation ► conformance test
    learners.py      AALpy's learners, which make the hypotheses and ask the box through `Box`
    conformance/     tests of a hypothesis up to a bound: W, Wp, HSI, H
    box.py           words in, outputs out, nothing executed twice; failures and contradictions
    claims.py        what is known about each requirement
    resetless.py     the same for a box that cannot be reset

Nothing here uses a system directly: the driver gives `ask`.
"""
