"""One thread for fits, and as many as before after them."""

import threading

import torch

from uncletc.fitting.fit import one_thread


def test_overlapping_fits_leave_torch_with_the_threads_it_had():
    before, found = torch.get_num_threads(), []
    both_within, first_left = threading.Barrier(2), threading.Event()

    def fit(first):
        with one_thread():
            both_within.wait(10)
            found.append(torch.get_num_threads())
            if not first:
                first_left.wait(10)
        if first:
            first_left.set()

    torch.set_num_threads(3)
    try:
        fits = [threading.Thread(target=fit, args=(first,)) for first in (True, False)]
        for each in fits:
            each.start()
        for each in fits:
            each.join()
        later = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
        later.start()
        later.join()
    finally:
        torch.set_num_threads(before)
    assert found == [1, 1, 3]
