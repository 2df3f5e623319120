/// Who stands behind a trust anchor: Apple, Xcode's StoreKit testing, or a store of one's own.
public enum Realm: String, Sendable, Codable, CaseIterable {
    case apple
    case xcode
    case local
}
