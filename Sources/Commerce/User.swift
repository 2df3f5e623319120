/// Somebody who owns items, by the name the caller's own system gives them.
public struct User: Hashable, Sendable, CustomStringConvertible {
    /// The longest name, in bytes of UTF-8.
    public static let maximumLength = 128

    public let name: String

    /// - Returns: nil when the name is empty, longer than `maximumLength`, or holds a space or control character, which
    ///   nobody could tell apart from another name in a log.
    public init?(name: String) {
        guard (1...Self.maximumLength).contains(name.utf8.count) else { return nil }
        let isPrintable = name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .unassigned: false
            default: true
            }
        }
        guard isPrintable else { return nil }
        self.name = name
    }

    public var description: String { name }
}
