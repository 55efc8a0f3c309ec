"""Gang scheduling of tasks, with or without measurements at run time. Times in nanoseconds.

After Silva and Scherson, JSSPP 2000. Jobs of one or more tasks hold columns, one a processing element (PE), in the
rows of an Ousterhout matrix; all PEs switch to the next row together at every slice. The reference leaves a PE idle
where the row has no task for it or its task is blocked. By priority it then runs another of its tasks, the one that is
most likely to do I/O or to compute by what its past slices have shown. Under spin control a task that has waited long
for a message makes room for one that does I/O.

The paper's rules are in `matrix` (who is placed where, whose turn it is), `classes` (what a task is held to do),
`choice` (which task a PE runs) and `spinning`. What tasks do is in `operations` and `meeting`; `running` simulates one
task ahead on its PE, and `slices` is the simulation.

What happens at one instant on one PE: what was waited for arrives; a switch or a piece of work ends; a spin that has
lasted the time of an answer is looked at; then, at a multiple of the slice, the global switch, else a PE without a task
asks for one. A PE that loses its task, or idles until one is ready, needs nobody else to go on, and neither does the
look at a spin whose end is known or that cannot have an effect. The exception is a PE where a task has made room for
others until a message that has not been sent. There, and for all other spins, these are events, which are processed in
the order of time.
"""
