import Commerce
import Webhooks
import Wire

extension WebhookResource {
    /// - Parameter moment: The moment of the shown secret; nil to omit the secret.
    init(_ endpoint: WebhookEndpoint, showingSecretAt moment: Timestamp? = nil) {
        self.init(
            webhookId: endpoint.identifier, url: endpoint.url, createdAt: endpoint.createdAt.rfc3339,
            createdBy: endpoint.createdBy,
            secret: moment.flatMap { endpoint.secrets(at: $0).first?.description })
    }
}
