/// The name of a fact that the App Store states. The raw value is the name of its column in the ledger.
public protocol StatedFact: RawRepresentable<String>, CaseIterable, Hashable, Sendable {}
