"""Markov chains of papers and textbooks, written as the networks from which they come."""

from __future__ import annotations

from bbfalsify.modelling import Network, NetworkBuilder


def hubble(gyroscopes: int = 6) -> Network:
    """The Hubble telescope (Hermanns, "Performance and reliability model checking"): six gyroscopes, sleep, repair.

    A gyroscope fails with rate λ.  When two are left the controller turns the telescope to sleep (rate μ), and the base
    sends a repair (rate ν), after which everything starts anew.  Without gyroscopes the telescope crashes.
    """
    b = NetworkBuilder("hubble")
    b.declare("const double lambda = 0.1; const double mu = 100; const double nu = 6;")
    b.declare(f"const int N = {gyroscopes}; typedef int[0,N-1] id_t; int[0,N] left = N; bool sleep = false, crash = false;")
    b.declare("broadcast chan fail, sleeping, restart, crashed;")
    gyro = b.automaton("Gyro", parameters="const id_t id")
    gyro.location("Good", exponential_rate="lambda")
    gyro.location("Failed")
    gyro.edge("Good", "Failed", sync="fail!")
    gyro.edge("Good", "Good", sync="restart?")
    gyro.edge("Failed", "Good", sync="restart?")
    controller = b.automaton("Controller")
    controller.location("Watching")
    controller.location("Tired", exponential_rate="mu")
    controller.location("Resting")
    controller.location("Counting", committed=True)
    controller.location("Falling", committed=True)
    controller.location("Ended")
    controller.edge("Watching", "Counting", sync="fail?", update="left--")
    controller.edge("Counting", "Watching", guard="left > 2", action="enough")
    controller.edge("Counting", "Tired", guard="left <= 2", action="few")
    controller.edge("Tired", "Resting", sync="sleeping!", update="sleep = true")
    for location in ("Tired", "Resting"):
        controller.edge(location, location, guard="left > 1", sync="fail?", update="left--")
        controller.edge(location, "Falling", guard="left == 1", sync="fail?", update="left--")
    controller.edge("Falling", "Ended", sync="crashed!", update="crash = true, sleep = false")
    controller.edge("Resting", "Watching", sync="restart?", update="left = N, sleep = false")
    base = b.automaton("Base")
    base.location("Idle")
    base.location("Launching", exponential_rate="nu")
    base.location("Stopped")
    base.edge("Idle", "Launching", sync="sleeping?")
    base.edge("Launching", "Idle", sync="restart!")
    base.edge("Launching", "Stopped", sync="crashed?")
    base.edge("Idle", "Stopped", sync="crashed?")
    b.instance("Gyro").instance("Controller").instance("Base")
    return b.build()
