"""TensorFlow's order of records from several files, in plain Python."""


def interleave(files, slots):
    """TensorFlow's order: slots in turn, one record each; a visit that finds its file at the end yields nothing, and
    the slot's next visit begins the next file. Slots that no file is left for are skipped."""
    waiting = iter(files)
    cycle = [None] * slots
    order, left = [], True
    while left or any(slot is not None for slot in cycle):
        for i in range(slots):
            if cycle[i] is None:
                cycle[i] = next(waiting, None)
                cycle[i] = iter(cycle[i]) if cycle[i] is not None else None
                left = left and cycle[i] is not None
            if cycle[i] is not None:
                record = next(cycle[i], None)
                if record is None:
                    cycle[i] = None
                else:
                    order.append(record)
    return order
