import Proofs

/// The error of a log-in. Nothing was changed.
public enum LogInError: CodedError, Equatable {
    /// The anonymous customer has too many records to move them in one commit.
    case customerTooLarge

    public var code: String {
        switch self {
        case .customerTooLarge: "customerTooLarge"
        }
    }

    public var message: String {
        """
        The anonymous customer has more than \(LogIn.maximumRecords) records, too many for a log-in. Nothing was changed. Let the \
        team join the two ids by an import.
        """
    }
}
