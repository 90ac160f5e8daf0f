"""What can be said about finite machines (`automata/mealy.py`), and many words at once.

equivalence.py     minimise, equivalent, shortest separating words between two machines
identification.py  access words; what tells the states of one machine apart
words.py           many words as two arrays, and walks along all of them in compiled code
"""
