import Proofs

/// The error of a log-in. Nothing was changed.
package enum LogInError: CodedError, Equatable {
    /// The anonymous customer has too many records to move them in one commit.
    case customerTooLarge

    package var code: String {
        switch self {
        case .customerTooLarge: "customerTooLarge"
        }
    }

    package var message: String {
        """
        The anonymous customer has more than \(LogIn.maximumRecords) records, too many for a log-in. Nothing was changed. Let the \
        team join the two ids by an import.
        """
    }
}
