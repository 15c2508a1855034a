"""Secret values (R-78): masked wherever they leave, encrypted where they stay, and erasable by person.

`documents` takes them out of records, questions and answers and puts them back, `masking` finds them in texts, `vault`
encrypts them, and `safekeeping` says which keys a store's are when nobody says otherwise.
"""
