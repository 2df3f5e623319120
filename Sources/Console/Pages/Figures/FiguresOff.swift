/// The explanation for a service without figures.
enum FiguresOff {
    static var page: Page {
        Page(Phrase("Figures", "지표"), section: .overview) { card }
    }

    static var card: HTML {
        div(.class("card")) {
            h2 { Phrase("Sales figures are off", "판매 지표가 꺼져 있습니다") }
            p {
                Phrase(
                    "Till can add up revenue, subscriptions and trials by day. Turn figures on and restart the service:",
                    "Till은 매출, 구독, 무료 체험을 날짜별로 합산할 수 있습니다. 지표를 켜고 서비스를 다시 시작하세요:")
            }
            pre { plain("till serve --figures") }
        }
    }
}
