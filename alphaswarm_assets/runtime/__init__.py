"""The one executor: what trains, evaluates, judges, registers and rehearses. Graph, command and bots all call it."""
