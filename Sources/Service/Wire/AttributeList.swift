/// The attributes of a customer, in the order of their names.
package struct AttributeList: Codable, Sendable {
    package let attributes: [AttributeResource]
}
