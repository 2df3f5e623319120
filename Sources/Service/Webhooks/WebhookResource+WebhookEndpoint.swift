import Features
import Proofs

extension WebhookResource {
    /// - Parameters:
    ///   - keys: The names of API keys by their identifiers.
    ///   - moment: The moment of the shown secret; nil to omit the secret.
    init(_ endpoint: WebhookEndpoint, naming keys: [String: String], showingSecretAt moment: Timestamp? = nil) {
        self.init(
            webhookId: endpoint.identifier, url: endpoint.url, format: endpoint.format.rawValue,
            hasAuthorization: endpoint.authorization != nil, createdAt: endpoint.createdAt.rfc3339,
            createdBy: endpoint.createdBy, createdByName: keys[endpoint.createdBy], app: endpoint.app,
            secret: moment.flatMap { endpoint.secrets(at: $0).first?.description })
    }
}
