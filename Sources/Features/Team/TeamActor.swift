import Ledger

/// The person or the program that changes the team.
package enum TeamActor: Hashable, Sendable, SQLConvertible {
    /// A member, by name.
    case member(String)
    /// A person at a shell.
    case commandLine

    private static let memberPrefix = "member "
    private static let commandLineText = "command line"

    package var sqlValue: SQLValue {
        switch self {
        case .member(let name): .text(Self.memberPrefix + name)
        case .commandLine: .text(Self.commandLineText)
        }
    }

    package init?(_ value: SQLValue) {
        guard let text = String(value) else { return nil }
        if text == Self.commandLineText {
            self = .commandLine
        } else if text.hasPrefix(Self.memberPrefix) {
            self = .member(String(text.dropFirst(Self.memberPrefix.count)))
        } else {
            return nil
        }
    }
}
