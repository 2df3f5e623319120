/// A violated invariant of a simulation.
enum SimulationError: Error {
    case broken(String)
}
