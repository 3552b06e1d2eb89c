// Runs all tests. web/check.sh bundles this file and gives it to node.

import "./hilbert_test";
import "./outline_test";
import "./values_test";
import "./route_test";
import "./colour_test";
import "./edge_test";
import "./layout_test";
import { report } from "./check";

report();
