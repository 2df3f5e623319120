import Proofs

/// The error of a statement about an attribute.
package enum AttributeError: CodedError, Equatable {
    /// - Parameter name: The beginning of the name.
    case nameInvalid(String)
    case valueInvalid(name: String)
    case tooMany

    package var code: String {
        switch self {
        case .nameInvalid: "attributeNameInvalid"
        case .valueInvalid: "attributeValueInvalid"
        case .tooMany: "attributesTooMany"
        }
    }

    package var message: String {
        switch self {
        case .nameInvalid(let name):
            "\"\(name)\" is not an attribute's name. Use 1 to \(Attribute.maximumNameLength) bytes, without control characters."
        case .valueInvalid(let name):
            "The value of \"\(name)\" is too long or contains NUL. Use at most \(Attribute.maximumValueLength) bytes."
        case .tooMany:
            "A customer has at most \(Attribute.maximumCount) attributes. Remove some, or use fewer names."
        }
    }
}
