"""A user who chooses at once: after `a`, `ok` or `bad` follows at the same moment, with odds of three to one."""

COMMITTED = """
format_version: 1
name: chooser
automata:
  User:
    declarations: "clock x;"
    initial: S
    locations:
      S: {invariant: "x <= 2"}
      C: {committed: true}
    edges:
      - {from: S, to: C, action: a, guard: "x >= 1", update: "x = 0"}
      - {from: C, to: S, action: ok, weight: 3}
      - {from: C, to: S, action: bad, weight: 1}
inputs:
  u: {actions: {ok: 0, bad: 1}, initial: 0}
"""
URGENT = COMMITTED.replace("committed: true", "urgent: true")
