/// The owner of a trust anchor: Apple, Xcode's StoreKit testing, or a local store.
public enum Realm: String, Sendable, Codable, CaseIterable {
    case apple
    case xcode
    case local
}
