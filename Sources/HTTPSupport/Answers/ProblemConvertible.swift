/// An error that defines its own problem document.
package protocol ProblemConvertible: Error {
    var problem: Problem { get }
}
