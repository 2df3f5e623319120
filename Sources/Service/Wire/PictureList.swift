/// The pictures of the catalog, in the order of their items.
public struct PictureList: Codable, Sendable {
    public let pictures: [PictureResource]

    public init(pictures: [PictureResource]) {
        self.pictures = pictures
    }
}
