import Proofs

/// A page of a list of the catalog. Its token is the last identifier of the page before.
struct PublisherPage {
    private static let standardSize = 50
    private static let maximumSize = 1000
    /// The maximum number of identifiers or requests in a batch.
    static let maximumBatch = 100

    let after: String
    let limit: Int

    /// - Parameters:
    ///   - sizeName: The parameter with the size of the page.
    ///   - tokenName: The parameter with the token of the page.
    /// - Throws: `PublisherError`, `invalidValue`.
    init(_ parameters: PublisherParameters, size sizeName: String = "pageSize", token tokenName: String = "pageToken")
        throws(PublisherError)
    {
        let size = try parameters.integer(sizeName) ?? 0
        guard size >= 0 else { throw .invalidValue(sizeName, "it may not be negative.") }
        limit = size == 0 ? Self.standardSize : min(size, Self.maximumSize)
        guard let token = parameters[tokenName] else {
            after = ""
            return
        }
        guard let bytes = Base64.decode(token.utf8, .urlSafe) else {
            throw .invalidValue(tokenName, "it is of no page.")
        }
        after = String(decoding: bytes, as: UTF8.self)
    }

    /// The token of the next page; nil after the last one.
    ///
    /// - Parameter found: The identifiers of the page, and one more if there is a next page.
    func next(_ found: [String]) -> String? {
        found.count > limit ? Base64.encode(found[limit - 1].utf8, .urlSafe) : nil
    }

    /// - Throws: `PublisherError` unless a batch names 1 to 100 different identifiers.
    static func checkBatch(_ identifiers: [String], of parameter: String) throws(PublisherError) {
        guard !identifiers.isEmpty else { throw .required(parameter) }
        guard identifiers.count <= maximumBatch, Set(identifiers).count == identifiers.count else {
            throw .invalidValue(parameter, "name 1 to \(maximumBatch) different ones.")
        }
    }
}
