/// The pictures of the catalog, in the order of their items.
package struct PictureList: Codable, Sendable {
    package let pictures: [PictureResource]
}
