// The words about obstacles, and how hard each is to move.
#include <array>

#include "inspect/blockers.h"

namespace berth::inspect {
namespace {

struct ObstacleWords {
  std::string_view name;
  Effort effort;
  std::string_view advice;
};

/// In the order of the obstacles.
constexpr std::array<ObstacleWords, kObstacles> kObstacleWords = {{
    {"ApiServer", Effort::kHard,
     "The API servers make this Service, with the first address of their first range. Restart them "
     "with the new range first, then delete the Service, and they make it again. Pods have the old "
     "address in their environment until they are restarted."},
    {"ClusterDns", Effort::kHard,
     "Every pod has the address of the cluster's DNS in its resolv.conf. Add a second Service with "
     "the new address, set clusterDNS of all kubelets to it, restart the pods, and then delete "
     "this one."},
    {"Named", Effort::kHard,
     "A client asked for this value, so it stands in a manifest, and perhaps in firewalls and in "
     "other programs. Change it there first. A node port can be changed in place; for another "
     "cluster IP, delete and create the Service."},
    {"Controller", Effort::kHard,
     "Another object owns the Service. Change that object, or its controller makes the Service as "
     "it was."},
    {"Tool", Effort::kHard,
     "A tool deploys the Service. Make the change there, or the tool puts the old state back."},
    {"HealthCheck", Effort::kHard,
     "healthCheckNodePort cannot be changed. Delete and create the Service. Its load balancer is "
     "made anew and may get another external address."},
    {"LoadBalancer", Effort::kHard,
     "The cluster IP cannot be changed. Delete and create the Service. Its load balancer is made "
     "anew and may get another external address."},
    {"UnknownOrigin", Effort::kMedium,
     "The source has no managed fields, so it does not show whether a client asked for this value. "
     "Look for it in your manifests; kubectl get --show-managed-fields shows more."},
    {"NodePort", Effort::kMedium,
     "The port can be changed without a new Service, but clients outside of the cluster, load "
     "balancers and firewalls use it. Change it when no other client writes the Service."},
    {"Reservation", Effort::kMedium,
     "A record keeps the value. Delete it if nobody needs the value any more."},
    {"Orphan", Effort::kEasy,
     "A record is left of a Service that is gone. The server removes it by itself; berth verify "
     "shows whether it does."},
    {"Plain", Effort::kEasy,
     "The cluster IP cannot be changed. Delete and create the Service, and it gets a new one. "
     "Clients that use its DNS name notice a short gap; others must be restarted."},
    {"Deleting", Effort::kEasy,
     "The Service is being deleted. Wait until its finalizers are gone."},
}};

const ObstacleWords& WordsOf(Obstacle obstacle) {
  return kObstacleWords[static_cast<size_t>(obstacle)];
}

}  // namespace

std::string_view NameOf(Effort effort) {
  if (effort == Effort::kEasy) return "easy";
  return effort == Effort::kMedium ? "medium" : "hard";
}

std::string_view NameOf(Obstacle obstacle) { return WordsOf(obstacle).name; }
Effort EffortOf(Obstacle obstacle) { return WordsOf(obstacle).effort; }
std::string_view AdviceOn(Obstacle obstacle) { return WordsOf(obstacle).advice; }

std::string_view NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAccepted:
      return "Accepted";
    case Outcome::kRefused:
      return "Refused";
    case Outcome::kWaits:
      return "Waits";
    case Outcome::kUnchecked:
      break;
  }
  return "Unchecked";
}

}  // namespace berth::inspect
