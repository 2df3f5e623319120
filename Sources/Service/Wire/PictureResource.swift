import Proofs

/// An item of the catalog with the address of its picture.
package struct PictureResource: Codable, Sendable {
    package let item: Item
    package var picture: String?
}
