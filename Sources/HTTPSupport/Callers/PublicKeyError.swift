import Proofs

/// A public key cannot be made.
package enum PublicKeyError: CodedError, Equatable {
    /// The app has a valid public key for the platform.
    case exists(key: String, app: String, platform: AppPlatform)

    package var code: String { "publicKeyExists" }

    package var message: String {
        switch self {
        case .exists(let key, let app, let platform):
            "The app \"\(app)\" has the public key \(key) for the platform \"\(platform.rawValue)\". Use it, or revoke it "
                + "first with `till keys revoke \(key)`: apps with that key are then refused."
        }
    }
}
