import HTTPSupport
import Hummingbird
import Proofs

extension Origin {
    /// The query parameter `origin`; nil if it is missing.
    ///
    /// - Throws: `Problem`, `parameterInvalid`.
    static func requested(by request: Request) throws(Problem) -> Origin? {
        guard let text = try request.query("origin") else { return nil }
        guard let origin = Origin(rawValue: text) else {
            throw .parameter("origin", "one of \(allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return origin
    }
}
