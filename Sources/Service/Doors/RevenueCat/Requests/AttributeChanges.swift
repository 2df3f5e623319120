import HTTPSupport
import Proofs

/// The attributes in a request (`attributes`).
package enum AttributeChanges {
    /// The maximum number of attributes in one request.
    package static let maximumCount = 100
    /// The maximum length of a name, in bytes of UTF-8.
    package static let maximumNameLength = 256
    /// The maximum length of a value, in bytes of UTF-8.
    package static let maximumValueLength = 4096

    /// The maximum size of a body with attributes, in bytes.
    static let maximumBodySize = 512 * 1024

    /// Reads the body of `POST /v1/subscribers/{user}/attributes`.
    package static func read(_ body: [UInt8]) throws(Problem) -> [CustomerAttribute] {
        try attributes(of: RequestMembers(body))
    }

    /// Reads the member `attributes`. It is empty if the member is missing.
    static func attributes(of members: RequestMembers) throws(Problem) -> [CustomerAttribute] {
        let object: JSONObject
        switch members.object["attributes"] {
        case nil, .null: return []
        case .object(let members): object = members
        default: throw members.wrong("attributes", "an object")
        }
        guard object.members.count <= maximumCount else {
            throw members.wrong("attributes", "an object of at most \(maximumCount) members")
        }
        var attributes: [CustomerAttribute] = []
        for member in object.members {
            guard (1...maximumNameLength).contains(member.key.utf8.count), !member.key.utf8.contains(0),
                case .object(let object) = member.value, case .number(let date)? = object["updated_at_ms"],
                let milliseconds = date.int64
            else { throw members.wrong("attributes", "an object of values with updated_at_ms") }
            attributes.append(
                CustomerAttribute(
                    name: member.key,
                    value: try RequestMembers(object).optionalText("value", upTo: maximumValueLength),
                    updatedAt: Timestamp(millisecondsSince1970: milliseconds)))
        }
        return attributes
    }
}
