import Commerce
import Console
import Service

/// The running service, as the console shows it.
struct ServiceSystem: ConsoleSystem {
    let configuration: ServeConfiguration
    let appStores: AppStoreServices

    var version: String { Till.version }
}
