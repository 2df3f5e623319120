import Service

/// The settings of a key for the App Store Server API.
struct AppStoreKeySettings: Sendable {
    /// The path of the `.p8` file, from App Store Connect or `till store keys`.
    let file: String
    let keyIdentifier: String
    let issuerIdentifier: String
}
