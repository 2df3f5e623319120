/// The name of a fact that the App Store states. Its raw value is the name of the ledger's column.
public protocol StatedFact: RawRepresentable<String>, CaseIterable, Hashable, Sendable {}
