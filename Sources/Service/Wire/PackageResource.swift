/// A product in an offering, under a name that the app knows, such as `$rc_monthly`.
public struct PackageResource: Codable, Sendable {
    public let identifier: String
    public let productId: String

    public init(identifier: String, productId: String) {
        self.identifier = identifier
        self.productId = productId
    }
}
