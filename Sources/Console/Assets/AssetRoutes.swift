import HTTPSupport
import HTTPTypes
import Hummingbird

/// The style sheet, the script and the icon, which are compiled into the binary.
struct AssetRoutes: Sendable {
    private static let assets: [(name: RouterPath, type: String, bytes: [UInt8])] = [
        ("console.css", "text/css; charset=utf-8", PackageResources.console_css),
        ("console.js", "text/javascript; charset=utf-8", PackageResources.console_js),
        ("icon.svg", "image/svg+xml", PackageResources.icon_svg),
    ]

    func add(to group: RouterGroup<ConsoleContext>) {
        for asset in Self.assets {
            group.get(asset.name) { request, _ in
                // The tag changes with the binary.
                CacheableAnswer.response(
                    asset.bytes, type: asset.type, for: request, headers: [.cacheControl: "no-cache"])
            }
        }
    }
}
