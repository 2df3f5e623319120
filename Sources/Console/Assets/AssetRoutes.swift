import HTTPSupport
import HTTPTypes
import Hummingbird

/// The style sheet, the script and the icon, which are compiled into the binary.
struct AssetRoutes: Sendable {
    // The tag changes with the binary.
    private static let assets: [(name: RouterPath, answer: CacheableAnswer)] = [
        ("console.css", CacheableAnswer(PackageResources.console_css, type: "text/css; charset=utf-8")),
        ("console.js", CacheableAnswer(PackageResources.console_js, type: "text/javascript; charset=utf-8")),
        ("icon.svg", CacheableAnswer(PackageResources.icon_svg, type: "image/svg+xml")),
    ]

    func add(to group: RouterGroup<ConsoleContext>) {
        for asset in Self.assets {
            group.get(asset.name) { request, _ in
                asset.answer.response(to: request, headers: [.cacheControl: "no-cache"])
            }
        }
    }
}
