/// The attributes of a customer, in the order of their names.
public struct AttributeList: Codable, Sendable {
    public let attributes: [AttributeResource]

    public init(attributes: [AttributeResource]) {
        self.attributes = attributes
    }
}
