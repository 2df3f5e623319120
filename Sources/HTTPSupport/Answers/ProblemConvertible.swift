/// An error that says how the service answers it.
package protocol ProblemConvertible: Error {
    var problem: Problem { get }
}
