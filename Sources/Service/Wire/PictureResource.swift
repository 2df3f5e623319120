import Proofs

/// An item of the catalog with the address of its picture.
public struct PictureResource: Codable, Sendable {
    public let item: Item
    public let picture: String?

    public init(item: Item, picture: String? = nil) {
        self.item = item
        self.picture = picture
    }
}
