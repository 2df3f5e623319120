import Features
import Proofs

extension WebhookSecretsResource {
    init(_ endpoint: WebhookEndpoint, at moment: Timestamp) {
        let secrets = endpoint.secrets(at: moment).map(\.description)
        self.init(
            secret: secrets[0], previousSecret: secrets.dropFirst().first,
            previousSecretEndsAt: secrets.count > 1 ? endpoint.previousSecret?.endsAt.rfc3339 : nil,
            authorization: endpoint.authorization?.value)
    }
}
