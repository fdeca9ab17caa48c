"""Brian2, by Cython: C++ modules, and tests of flags in folders with random names."""

import brian2
from brian2 import ms

brian2.prefs.codegen.target = "cython"
group = brian2.NeuronGroup(3, "dv/dt = (1 - v) / (10*ms) : 1", method="exact", threshold="v > 0.8", reset="v = 0")
monitor = brian2.SpikeMonitor(group)
brian2.run(40 * ms)
print(monitor.num_spikes)
