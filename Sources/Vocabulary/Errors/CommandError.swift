import Proofs

/// An error that only the terminal shows.
package struct CommandError: CodedError, Equatable {
    package let code: String
    package let message: String

    package init(_ code: String, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// An error of several cases that only the terminal shows.
package protocol StatedError: CodedError {
    var statement: CommandError { get }
}

extension StatedError {
    package var code: String { statement.code }
    package var message: String { statement.message }
}
