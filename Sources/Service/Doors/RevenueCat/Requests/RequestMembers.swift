import HTTPSupport
import Proofs

/// The members of a request's body. Unknown members are ignored, because newer SDKs send more.
struct RequestMembers: Sendable {
    /// The maximum size of a body in bytes: a proof, and the facts around it.
    static let maximumBodySize = FetchToken.maximumSize + 128 * 1024
    /// The maximum length of a short text, in bytes of UTF-8.
    static let maximumLength = 512

    let object: JSONObject
}

extension RequestMembers {
    init(_ body: [UInt8]) throws(Problem) {
        do {
            guard case .object(let object) = try JSONParser.parse(body, limits: .init(bytes: Self.maximumBodySize))
            else {
                throw JSONBody.invalid("The body must be a JSON object.")
            }
            self.object = object
        } catch let problem as Problem {
            throw problem
        } catch {
            throw JSONBody.invalid("The body is not JSON.")
        }
    }

    func text(_ name: String) throws(Problem) -> String {
        guard let text = try optionalText(name) else { throw wrong(name, "a string") }
        return text
    }

    /// Returns a text, or nil if it is missing or null.
    func optionalText(_ name: String, upTo maximumLength: Int = Self.maximumLength) throws(Problem) -> String? {
        switch object[name] {
        case nil, .null: return nil
        case .string(let text):
            guard text.utf8.count <= maximumLength, !text.hasNUL else {
                throw wrong(name, "a string of at most \(maximumLength) bytes, without NUL")
            }
            return text
        default: throw wrong(name, "a string")
        }
    }

    /// Returns a Boolean value, or false if it is missing or null.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch object[name] {
        case nil, .null: return false
        case .bool(let flag): return flag
        default: throw wrong(name, "true or false")
        }
    }

    /// Returns an object, or nil if it is missing or null.
    func object(_ name: String) throws(Problem) -> RequestMembers? {
        switch object[name] {
        case nil, .null: return nil
        case .object(let object): return RequestMembers(object: object)
        default: throw wrong(name, "an object")
        }
    }

    /// Returns the objects of an array. It is empty if the array is missing or null.
    func objects(_ name: String, atMost maximumCount: Int) throws(Problem) -> [RequestMembers] {
        guard let elements = try elements(name, atMost: maximumCount) else { return [] }
        var objects: [RequestMembers] = []
        for element in elements {
            guard case .object(let object) = element else { throw wrong(name, "an array of objects") }
            objects.append(RequestMembers(object: object))
        }
        return objects
    }

    /// Returns the strings of an array. It is empty if the array is missing or null.
    func texts(_ name: String, atMost maximumCount: Int) throws(Problem) -> [String] {
        guard let elements = try elements(name, atMost: maximumCount) else { return [] }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element, text.utf8.count <= Self.maximumLength else {
                throw wrong(name, "an array of strings of at most \(Self.maximumLength) bytes")
            }
            texts.append(text)
        }
        return texts
    }

    private func elements(_ name: String, atMost maximumCount: Int) throws(Problem) -> [JSONValue]? {
        switch object[name] {
        case nil, .null: return nil
        case .array(let elements) where elements.count <= maximumCount: return elements
        default: throw wrong(name, "an array of at most \(maximumCount) elements")
        }
    }

    func wrong(_ name: String, _ expected: String) -> Problem {
        JSONBody.invalid("The field /\(name) must be \(expected).")
    }
}
