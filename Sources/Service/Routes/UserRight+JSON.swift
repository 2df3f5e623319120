import Features
import Proofs

extension UserRight {
    /// The JSON of a `UserRightResource`.
    var json: JSONValue {
        var object: JSONObject = ["name": .string(name)]
        if case .object(let owned) = item.json {
            for member in owned.members { _ = object.add(member.key, member.value) }
        }
        return .object(object)
    }
}
