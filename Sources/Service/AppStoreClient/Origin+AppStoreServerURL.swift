import Foundation
import Proofs

extension Origin {
    /// The address of Apple's App Store Server API for this origin; nil for Xcode and local stores.
    package var appStoreServerURL: URL? {
        switch self {
        case .appleProduction: URL(string: "https://api.storekit.apple.com")
        case .appleSandbox: URL(string: "https://api.storekit-sandbox.apple.com")
        case .xcode, .localProduction, .localSandbox: nil
        }
    }
}
