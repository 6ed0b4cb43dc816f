"""The words and symbols of the pages, and the sidebar's list of them."""

from __future__ import annotations

import streamlit as st

# What a word means, by the word: in the order in which a reader meets them.
GLOSSARY: dict[str, str] = {
    "Count, y": "What was reported for one place and time: cases in a county on a day, or an "
    "interaction seen at a visit. It can be too low; too high only where reports "
    "of other days come in.",
    "True count": "What really happened there and then. It is never observed; only part of it was "
    "counted.",
    "λ (lambda)": "The expected true count: its average if the same place and time could be "
    "repeated many times.",
    "p": "The chance that one true event is counted, between 0 and 1. Of 100 true events about "
    "100 × p are counted.",
    "Relative p": "p divided by its median: 2 means twice as likely to be counted as the median "
    "entry. It needs no assumption, and it may be larger than 1.",
    "% counted": "What was reported, of λ. It holds chance, and how reports come in where the fit "
    "has effects on that (late, in bulk, never); p holds neither.",
    "ŷ (y hat)": "The expected reported count, λ × p, times reporting where the fit has effects on "
    "it. Unlike λ or p alone, it has no free scale.",
    "Anchor, scale of p": "Twice the true events with half the detection would give the same "
    "counts, so counts alone fix only ratios of p. An anchor is your own statement that fixes "
    "the rest, such as “a quarter of all cases are counted”; it may be a range.",
    "Attribute, z": "Something known about a place and time that detection may depend on: "
    "weather, hospital beds, the kind of pollinator.",
    "Role": "What an attribute may change: p, λ, or both; and, if stated, whether p may only rise "
    "or only fall with it. Counts alone hardly tell the two apart, so roles are stated, with "
    "reasons.",
    "Effect of a mode": "A factor of λ for each place, day or species, or for pairs of these, as "
    "far as the counts ask for one. On reporting: a factor of the counts alone, such as that of "
    "Sundays on which a state publishes little.",
    "Tensor": "A table with more than two dimensions. Cases by latitude, longitude and day form "
    "one with three.",
    "Mode": "One dimension of the tensor, such as the day or the plant.",
    "Entry": "One cell of the tensor, such as one place on one day. An entry without a count is "
    "missing, not zero.",
    "Rank, component": "λ is a sum of patterns, the components; each is a profile over places "
    "times a profile over days. The rank is the number of components.",
    "μ (mu)": "How closely the p of an entry follows its attributes: the larger, the less it may "
    "deviate from others with the same attributes. The counts say which μ is likeliest.",
    "g(z)": "The function that turns attributes into p, learned from the counts: a curve for each "
    "attribute, and a network where attributes act together.",
    "Act together": "Attributes act together where what one does to p depends on another: rain may "
    "keep observers away in spring and not in autumn.",
    "Network": "Layers of hidden units that see all attributes at once. It is trained on the "
    "counts, and kept only if it helps to predict counts that it has not seen.",
    "Member": "One of several fits of the same counts, each from another start. Those that end "
    "about as likely as the best are combined.",
    "Interval": "A range meant to contain the true value 9 times out of 10, from how sharply "
    "the counts speak against other values. It reflects chance in counts, not errors of the model.",
    "Held-out error": "How badly the fit predicts counts that were hidden from it. Counts that a "
    "fit has seen prove little.",
    "rRMSE": "Relative root mean squared error: the typical size of the errors of ŷ over the mean "
    "count. 0 is perfect; large counts weigh most.",
    "Deviance": "How unlikely the counts are under the fit, on a scale where 0 is a perfect fit. "
    "It weighs errors against what chance alone would give.",
    "Log score": "How much a count surprises a prediction: −log of the probability that it was "
    "given. Lower is better; .01 less an entry makes each count about 1 % more probable.",
    "Simulated": "Drawn from the model by this program. Nothing was observed, and the truth is "
    "known, so estimates can be checked against it.",
}


def glossary() -> None:
    """Draw the list, folded, in the sidebar; once a run, before the page itself."""
    with st.sidebar.popover("Words and symbols", icon=":material/menu_book:", width="stretch"):
        st.markdown("\n\n".join(f"**{word}**: {meaning}" for word, meaning in GLOSSARY.items()))
