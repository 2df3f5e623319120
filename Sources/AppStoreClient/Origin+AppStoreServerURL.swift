import Commerce
import Foundation

extension Origin {
    /// Where Apple answers for purchases of this origin (App Store Server API); nil for those of local stores.
    public var appStoreServerURL: URL? {
        switch self {
        case .appleProduction: URL(string: "https://api.storekit.apple.com")
        case .appleSandbox: URL(string: "https://api.storekit-sandbox.apple.com")
        case .xcode, .localProduction, .localSandbox: nil
        }
    }
}
