"""Gang scheduling of tasks, with or without measurements at run time. Times in nanoseconds.

After Silva and Scherson, JSSPP 2000. The tasks of a job hold columns, one per processing element (PE), in a row of an
Ousterhout matrix. At the end of every slice all PEs switch to the next row together. If the row has no task for a PE,
or that task is blocked, the reference scheduler leaves the PE idle. The priority scheduler runs another of the PE's
tasks: the one most likely to do I/O or to compute, judging by its past slices. Round robin lets all ready tasks of a PE
take turns instead. Under spin control a task that has waited long for a message makes room for one that does I/O.

The paper's rules are in `matrix` (which job is placed where, whose turn it is), `classes` (how a task is classified)
and `choice` (which task a PE runs, and spinning). What tasks do is in `operations` and `meeting`; `running` simulates
one task ahead on its PE, and `slices` is the simulation.

At one instant, events on one PE are processed in this order: the awaited message or release arrives; a context switch
or a piece of work ends; a spin that has lasted as long as an answer takes is checked. Last comes the global switch if
the instant is a multiple of the slice; otherwise a PE without a task asks for one.

A PE that loses its task, or idles until one is ready, can continue without the others, and so can the check of a spin
whose end is known or that cannot have an effect. The exception is a PE where a task has made room for others until it
receives a message that has not been sent. There, and for all other spins, these are events, which are processed in
order of time.
"""
