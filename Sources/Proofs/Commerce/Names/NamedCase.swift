/// An enumeration whose cases have StoreKit's spelling, in Till's own JSON and on the command line.
public protocol NamedCase: CaseIterable {}

extension NamedCase {
    /// The name of the case, such as `paymentCancelled`.
    public var name: String { String(describing: self) }

    /// - Returns: Nil if no case has the name.
    public init?(name: String) {
        guard let named = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = named
    }
}
