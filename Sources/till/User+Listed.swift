import Proofs

extension User {
    /// A user as settings and options list one: `NAME` for a user of the back end, `ISSUER NAME` for another.
    init?(listed text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: self.init(name: text)
        case 2 where !parts[0].isEmpty: self.init(issuer: String(parts[0]), name: String(parts[1]))
        default: return nil
        }
    }

    /// The same as a setting lists it.
    var listed: String { issuer.isEmpty ? name : "\(issuer) \(name)" }
}
